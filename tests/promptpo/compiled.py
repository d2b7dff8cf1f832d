"""Compile templates that every run of killable needs. Import this only in the server whose children are forks."""

from promptpo.output.report.templates import templates

for name in templates().list_templates(extensions=["j2"]):
    templates().get_template(name)
