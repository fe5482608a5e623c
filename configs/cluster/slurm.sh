#!/bin/bash
# A run on a SLURM cluster (docs/cluster.md#on-slurm): sbatch slurm.sh CONFIG FOLDER
#SBATCH --job-name=manaforge
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=16G
#SBATCH --time=12:00:00
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

CONFIG=${1:?a configuration, such as eva}
FOLDER=${2:?the run folder, on storage that all nodes share}
ENVIRONMENT=${MANAFORGE_ENVIRONMENT:?the virtual environment with manaforge, on storage that all nodes share}
source "$ENVIRONMENT/bin/activate"

# Only those who hold the token may give this cluster work; without one `ray start` would let everybody in.
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(ray get-auth-token --generate)
export RAY_AUTH_TOKEN

HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
ADDRESS=$(getent ahostsv4 "$HEAD" | awk 'NR == 1 {print $1}'):$((20000 + SLURM_JOB_ID % 20000))

# Nodes load Python from shared storage, which takes a while when all do it at once.
export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=300

# The same command on every node: ray starts everywhere, manaforge runs on the head, and all of it ends together.
# --resume: after a requeue it goes on where it stopped.
srun --kill-on-bad-exit=1 ray symmetric-run \
    --address "$ADDRESS" --min-nodes "$SLURM_JOB_NUM_NODES" --num-cpus "$SLURM_CPUS_PER_TASK" -- \
    manaforge evolve "$CONFIG" --address "$ADDRESS" --out "$FOLDER" --resume
