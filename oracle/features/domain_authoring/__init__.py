"""Domains as folders: `template` has the files of a new one, `command` makes and checks them."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="domain-authoring",
    summary="Makes the folder of a new domain, and checks a domain.",
    commands={
        "domain": ("oracle.features.domain_authoring.command:domain", "Make and check what questions are about."),
        "domain new": ("oracle.features.domain_authoring.command:new", "Write the folder of a new domain."),
        "domain check": (
            "oracle.features.domain_authoring.command:check",
            "Check a domain and its examples.",
        ),
    },
)
