"""Maintenance windows, in which AKS may upgrade the cluster and reimage its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice

from physical_ai.settings import Upgrades, Window


def maintenance_window(window: Window) -> containerservice.MaintenanceWindowArgs:
    """Maintenance window as ARM's argument, with `startTime` as HH:MM."""
    if window.week is None:
        weekly = containerservice.WeeklyScheduleArgs(day_of_week=window.day, interval_weeks=1)
        schedule = containerservice.ScheduleArgs(weekly=weekly)
    else:
        monthly = containerservice.RelativeMonthlyScheduleArgs(
            day_of_week=window.day, week_index=window.week, interval_months=1
        )
        schedule = containerservice.ScheduleArgs(relative_monthly=monthly)
    return containerservice.MaintenanceWindowArgs(
        schedule=schedule,
        start_time=f"{window.start_hour:02d}:00",
        utc_offset=window.utc_offset,
        duration_hours=window.duration_hours,
    )


@dataclass(frozen=True)
class MaintenanceArgs:
    resource_group_name: pulumi.Input[str]
    cluster: containerservice.ManagedCluster
    upgrades: Upgrades
    retry: pulumi.ErrorHook


class Maintenance(pulumi.ComponentResource):
    """The two maintenance windows under the names that AKS reserves for them: one for Kubernetes upgrades, one for
    node images.
    """

    def __init__(self, name: str, args: MaintenanceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Maintenance", name, {}, opts)
        windows = {
            "aksManagedAutoUpgradeSchedule": args.upgrades.kubernetes_window,
            "aksManagedNodeOSUpgradeSchedule": args.upgrades.node_os_window,
        }
        for config_name, window in windows.items():
            containerservice.MaintenanceConfiguration(
                f"{name}-{config_name}",
                config_name=config_name,
                resource_group_name=args.resource_group_name,
                resource_name_=args.cluster.name,
                maintenance_window=maintenance_window(window),
                opts=pulumi.ResourceOptions(
                    parent=self,
                    replace_with=[args.cluster],
                    hooks=pulumi.ResourceHookBinding(on_error=[args.retry]),
                ),
            )
        self.register_outputs({})
