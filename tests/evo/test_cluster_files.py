"""Files for clusters: the RayJob against KubeRay's fields, the shell script's syntax, the versions.

The schema holds the fields of KubeRay's `v1` types (RayJobSpec, RayClusterSpec, HeadGroupSpec,
WorkerGroupSpec; ray-operator/apis/ray/v1) with their types, and of Kubernetes' pods those that are used here.
Like the CRD it refuses unknown fields.
"""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "configs" / "cluster"


def record(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


TEXT, FLAG, ANY = {"type": "string"}, {"type": "boolean"}, {"type": "object"}
COUNT = {"type": "integer", "minimum": 0}
TEXTS = {"type": "object", "additionalProperties": TEXT}
QUANTITIES = {
    "type": "object",
    "additionalProperties": {"type": "string", "pattern": r"^[0-9.]+([kMGT]i?|m)?$"},
}
CONTAINER = record(
    ("name", "image"),
    name=TEXT,
    image=TEXT,
    resources=record(requests=QUANTITIES, limits=QUANTITIES),
    volumeMounts={"type": "array", "items": record(("name", "mountPath"), name=TEXT, mountPath=TEXT)},
    env={"type": "array", "items": record(("name",), name=TEXT, value=TEXT)},
)
VOLUME = record(
    ("name",), name=TEXT, persistentVolumeClaim=record(("claimName",), claimName=TEXT), emptyDir=ANY
)
POD = record(
    ("spec",),
    metadata=ANY,
    spec=record(
        ("containers",),
        containers={"type": "array", "items": CONTAINER, "minItems": 1},
        volumes={"type": "array", "items": VOLUME},
        nodeSelector=TEXTS,
    ),
)
HEAD = record(
    ("rayStartParams", "template"),
    serviceType=TEXT,
    headService=ANY,
    enableIngress=FLAG,
    rayStartParams=TEXTS,
    template=POD,
)
WORKERS = record(
    ("groupName", "minReplicas", "maxReplicas", "rayStartParams", "template"),
    groupName=TEXT,
    replicas=COUNT,
    minReplicas=COUNT,
    maxReplicas=COUNT,
    numOfHosts=COUNT,
    rayStartParams=TEXTS,
    template=POD,
    scaleStrategy=ANY,
)
CLUSTER_SPEC = record(
    ("headGroupSpec",),
    headGroupSpec=HEAD,
    workerGroupSpecs={"type": "array", "items": WORKERS},
    rayVersion=TEXT,
    enableInTreeAutoscaling=FLAG,
    autoscalerOptions=ANY,
    headServiceAnnotations=TEXTS,
    suspend=FLAG,
    authOptions=record(mode={"enum": ["disabled", "token"]}, secretName=TEXT, enableK8sTokenAuth=FLAG),
)
RAY_JOB = record(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata=record(("name",), name=TEXT, namespace=TEXT, labels=TEXTS),
    spec=record(
        activeDeadlineSeconds=COUNT,
        backoffLimit=COUNT,
        rayClusterSpec=CLUSTER_SPEC,
        submitterPodTemplate=POD,
        metadata=TEXTS,
        clusterSelector=TEXTS,
        submitterConfig=record(backoffLimit=COUNT),
        managedBy=TEXT,
        deletionStrategy=ANY,
        entrypoint=TEXT,
        runtimeEnvYAML=TEXT,
        jobId=TEXT,
        submissionMode={"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode"]},
        entrypointResources=TEXT,
        entrypointNumCpus={"type": "number"},
        entrypointNumGpus={"type": "number"},
        ttlSecondsAfterFinished=COUNT,
        shutdownAfterJobFinishes=FLAG,
        suspend=FLAG,
    ),
)


def ray_job() -> dict[str, Any]:
    found = yaml.safe_load((CLUSTER / "rayjob.yaml").read_text())
    assert isinstance(found, dict)
    return found


def test_the_ray_job_has_kuberays_fields() -> None:
    job = ray_job()
    jsonschema.validate(job, RAY_JOB)
    for group in (
        job["spec"]["rayClusterSpec"]["headGroupSpec"],
        *job["spec"]["rayClusterSpec"]["workerGroupSpecs"],
    ):
        pod = group["template"]["spec"]
        known = {volume["name"] for volume in pod.get("volumes", [])}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= known
    job["spec"]["backofLimit"] = 3
    with pytest.raises(jsonschema.ValidationError, match="backofLimit"):
        jsonschema.validate(job, RAY_JOB)


def test_the_ray_job_names_the_locked_ray_and_a_command_that_goes_on() -> None:
    spec = ray_job()["spec"]
    locked = re.search(r"^ray==([\d.]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked
    assert spec["rayClusterSpec"]["rayVersion"] == locked[1]
    assert spec["entrypoint"].startswith("manaforge study ") or "--resume" in spec["entrypoint"]
    assert "--out /runs/" in spec["entrypoint"]


def parsed(command: str) -> str:
    """The name of our command that accepts these words with all their options."""
    from typer.main import get_command

    from evo.cli.main import app

    words = shlex.split(command)
    assert words[0] == "manaforge"
    chosen = get_command(app).get_command(None, words[1])
    chosen.make_context(words[1], words[2:], resilient_parsing=False).close()
    return words[1]


def test_the_commands_of_clusters_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read by the command's own parser, so that a renamed option fails here."""
    assert parsed(ray_job()["spec"]["entrypoint"]) == "study"
    script = (CLUSTER / "slurm.sh").read_text().replace("\\\n", " ")
    lines = [line.strip() for line in script.splitlines()]
    (command,) = (
        line[line.index("manaforge") :] for line in lines if " -- " in line or line.startswith("srun")
    )
    values = {'"$CONFIG"': "eva", '"$ADDRESS"': "10.0.0.1:6379", '"$FOLDER"': "runs/x"}
    for name, value in values.items():
        assert name in command
        command = command.replace(name, value)
    assert parsed(command) == "evolve"
    for wrong in ("manaforge evolve eva --resum", "manaforge study eva --runs 0"):
        with pytest.raises(Exception, match=r"No such option|greater than or equal to 1"):
            parsed(wrong)


def test_the_slurm_script_is_a_script() -> None:
    assert subprocess.run(["bash", "-n", CLUSTER / "slurm.sh"], check=False).returncode == 0
    text = (CLUSTER / "slurm.sh").read_text()
    directives = re.findall(r"^#SBATCH --([a-z-]+)", text, re.MULTILINE)
    assert {"nodes", "ntasks-per-node", "cpus-per-task", "requeue"} <= set(directives)
    assert "ray symmetric-run" in text
    assert "--resume" in text


def test_the_runtime_environment_brings_this_version() -> None:
    environment = yaml.safe_load((CLUSTER / "runtime_env.yaml").read_text())
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert environment["pip"]["packages"] == [
        "${RAY_RUNTIME_ENV_CREATE_WORKING_DIR}/" + f"manaforge-{version}-py3-none-any.whl"
    ]
    assert set(environment) <= {"pip", "env_vars", "working_dir"}
