"""Fails unless a conda recipe renders to this: check_recipe.py RECIPE VERSION REQUIREMENT..."""

import sys

from rattler_build import Stage0Recipe

recipe, version, *needs = sys.argv[1:]
[variant] = Stage0Recipe.from_file(recipe).render()
rendered = variant.recipe.to_dict()
if str(rendered["package"]["version"]) != version:
    sys.exit(f"{recipe}: expected version {version}, got {rendered['package']['version']}")
runs = {"".join(str(need).split()) for need in rendered["requirements"]["run"]}
if runs != set(needs):
    sys.exit(f"{recipe}: expected that it asks for {sorted(needs)}, got {sorted(runs)}")
