"""SwanLab, fed by lines. `mode`: cloud, local, offline or disabled, in SwanLab's own words."""
from lines import serve


def start(options):
    import swanlab

    run = swanlab.init(
        project=options["project"],
        experiment_name=options["experiment"],
        workspace=options.get("entity"),
        logdir=options["folder"],
        config=options["config"],
        mode=options.get("mode") or "cloud",
    )
    return {"folder": options["folder"]}, lambda metrics, step: swanlab.log(metrics, step=step), swanlab.finish


serve("swanlab", start)
