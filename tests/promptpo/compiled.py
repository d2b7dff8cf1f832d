"""Compiles what every run of killable needs, for a server whose children begin with it; import this there only."""

from promptpo.output.report.templates import templates

for name in templates().list_templates(extensions=["j2"]):
    templates().get_template(name)
