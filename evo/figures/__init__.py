"""The look of figures and pages; their content is defined by the packages that make them."""
