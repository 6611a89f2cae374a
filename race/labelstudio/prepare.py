"""Adds people with API tokens to a fresh Label Studio and prints them as JSON.

It runs in Label Studio's own directory and environment, after `label-studio
init` has made the project: `prepare.py NUMBER`.
"""

import json
import os
import sys

sys.path.insert(0, os.getcwd())
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings.label_studio")

import django  # noqa: E402

django.setup()

from organizations.models import Organization  # noqa: E402
from projects.models import Project  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from users.models import User  # noqa: E402

organization = Organization.objects.first()
tokens = []
for number in range(int(sys.argv[1])):
    # They come with tokens: hashing a password for each would take most of the time.
    user = User.objects.create_user(email=f"person{number}@race.test", password=None)
    organization.add_user(user)
    user.active_organization = organization
    user.save(update_fields=["active_organization"])
    tokens.append(Token.objects.get_or_create(user=user)[0].key)
project = Project.objects.first()
print("READY" + json.dumps({"project": project.id, "tokens": tokens}))
