"""SwanLab, fed by lines. `mode`: cloud, local, offline or disabled, in SwanLab's own words."""
from lines import serve


def start(options):
    import swanlab

    again = {"id": options["run_id"], "resume": "allow"} if options.get("run_id") else {}
    run = swanlab.init(
        project=options["project"],
        experiment_name=options["experiment"],
        workspace=options.get("entity"),
        logdir=options["folder"],
        config=options["config"],
        mode=options.get("mode") or "cloud",
        **again,
    )
    # older versions keep the id elsewhere; without one a resumed run begins anew
    facts = {"id": getattr(run, "id", None), "folder": options["folder"]}
    return facts, lambda metrics, step: swanlab.log(metrics, step=step), swanlab.finish


serve("swanlab", start)
