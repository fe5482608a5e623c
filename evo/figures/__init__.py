"""Style of figures and HTML report pages; other packages define the content."""
