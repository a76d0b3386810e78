"""Makes the steps of strips: a run of steps, each for some lines of its image."""

from dataclasses import replace

from larq_engine.micro.plan import Memory, Plan, Range, Step

# Memory, and the bytes to skip in it, for memory of the whole plan.
_Places = dict[int, tuple[Memory, int]]


def is_run(plan: Plan, steps: list[Step]) -> bool:
    """Tells whether steps pass lines on to each other alone, and only the last image is kept."""
    return all(map(_makes_lines, steps)) and _fit_together(steps) and _are_alone(plan, steps)


def _makes_lines(step: Step) -> bool:
    return step.lines is not None and step.lines.rows > 1 and len(step.writes) == 1


def _fit_together(steps: list[Step]) -> bool:
    """Tells whether images are read as the lines that were made, and each is made by one step."""
    rows: dict[int, int] = {}
    for step in steps:
        lines, target = step.lines, step.writes[0]
        assert lines is not None
        for memory in step.reads:
            made = rows.get(id(memory), lines.window["in_size"])
            if made != lines.window["in_size"] or (
                id(memory) in rows and any(memory is other for other in lines.beside)
            ):
                return False
        if id(target) in rows:
            return False
        rows[id(target)] = lines.rows
    return True


def _are_alone(plan: Plan, steps: list[Step]) -> bool:
    """Tells whether images in between are the run's own, and the last one is made by it alone."""
    inner = _inner(steps)
    written = inner | {id(steps[-1].writes[0])}
    others = [step for step in plan.steps if all(step is not own for own in steps)]
    return (
        all(not step.writes[0].name for step in steps[:-1])
        and inner <= {id(memory) for step in steps for memory in step.reads}
        and not any(id(memory) in inner for step in others for memory in step.reads)
        and not any(id(memory) in written for step in others for memory in step.writes)
    )


def _inner(steps: list[Step]) -> set[int]:
    """Returns the images between the steps of a run."""
    return {id(step.writes[0]) for step in steps[:-1]}


def outer_images(steps: list[Step]) -> list[Memory]:
    """Returns the memory of the arena that a run shares with other steps, and its last image."""
    inner = _inner(steps)
    used = {id(memory): memory for step in steps for memory in [*step.reads, *step.writes]}
    return [memory for key, memory in used.items() if key not in inner and not memory.name]


def strip(steps: list[Step], made: Range) -> list[Step]:
    """Returns the steps that make some lines of the last image."""
    ranges = {id(steps[-1].writes[0]): made}
    inner = _inner(steps)
    for step in reversed(steps):
        assert step.lines is not None
        read = step.lines.read(ranges[id(step.writes[0])])
        for memory in step.reads:
            if id(memory) in inner:
                other = ranges.get(id(memory), read)
                ranges[id(memory)] = min(read[0], other[0]), max(read[1], other[1])
    strips: dict[int, Memory] = {}
    return [_part(step, ranges, strips, inner) for step in steps]


def _part(step: Step, ranges: dict[int, Range], strips: dict[int, Memory], inner: set[int]) -> Step:
    """Returns the step for the lines that its output has in `ranges`."""
    lines, target, source = step.lines, step.writes[0], step.in_place
    assert lines is not None
    made = ranges[id(target)]
    places = _read_places(step, ranges, strips)
    line = target.bytes // lines.rows
    if id(target) in inner:
        strips[id(target)] = Memory((made[1] - made[0]) * line)
        places[id(target)] = strips[id(target)], 0
    else:
        places[id(target)] = target, made[0] * line
    if step.scratch is not None:
        places[id(step.scratch)] = Memory(step.scratch.bytes), 0
    has_same_lines = id(target) in inner and ranges.get(id(source)) == made
    changed = replace(step, **lines.change(step, lines.window_of(made)))
    return replace(
        changed,
        arguments=[_placed(argument, places) for argument in changed.arguments],
        reads=[places.get(id(memory), (memory, 0))[0] for memory in step.reads],
        writes=[places[id(target)][0]],
        scratch=None if step.scratch is None else places[id(step.scratch)][0],
        in_place=strips.get(id(source)) if has_same_lines else None,
        work=step.work * (made[1] - made[0]) // lines.rows,
        strip=made,
        lines=None,
    )


def _read_places(step: Step, ranges: dict[int, Range], strips: dict[int, Memory]) -> _Places:
    """Returns where the lines that a part reads begin, in strips or in whole images."""
    lines = step.lines
    assert lines is not None
    first, _ = lines.read(ranges[id(step.writes[0])])
    places: _Places = {}
    for memory in step.reads:
        line = memory.bytes // lines.window["in_size"]
        if id(memory) in strips:
            places[id(memory)] = strips[id(memory)], (first - ranges[id(memory)][0]) * line
        elif all(memory is not other for other in lines.beside):
            places[id(memory)] = memory, first * line
    return places


def _placed(argument: object, places: _Places) -> object:
    memory, skip = argument if isinstance(argument, tuple) else (argument, 0)
    if id(memory) not in places:
        return argument
    moved, more = places[id(memory)]
    return (moved, skip + more)
