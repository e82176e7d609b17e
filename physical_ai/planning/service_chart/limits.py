"""Limits of the routes to OSMO's API, for which the chart's Envoy configuration has no values.

The chart's list of HTTP filters is fixed: it has no filter for local rate limits, and its filter for global rate
limits needs a service whose Redis client accepts no password (NVIDIA/OSMO deployments/charts/service,
_gateway-envoy-config.tpl, commit 0ee0da7). But a route may replace the code of a Lua filter (Envoy docs, LuaPerRoute).
Here, the limits replace the first filter, the chart's list of blocked addresses, so a request is refused before its
token is checked.

Each of Envoy's worker threads has its own Lua environment, and so has each route (Envoy docs, Lua filter), so requests
are counted per thread and route. A connection remains on one thread.
"""

from __future__ import annotations

from typing import Any

from physical_ai.settings.models.osmo_access import GatewayLimits

FIRST_FILTER = "block-spam-ips"
"""Name of the chart's first filter, which is a Lua filter."""
LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute"
CALLERS = 10_000
"""Largest number of callers whose requests one thread of Envoy counts.

When the table of callers is full, it is emptied; otherwise requests with invented tokens could fill the memory.
"""

_CODE = """\
local per_minute, body_bytes, most_callers = {per_minute}, {body_bytes}, {callers}
local minute, requests, callers = 0, {{}}, 0

local function caller(request)
  local headers = request:headers()
  local bearer = string.match(headers:get("authorization") or "", "^Bearer (.+)$")
  local session = string.match(headers:get("cookie") or "", "_osmo_session[^=]*=([^;]+)")
  local login = headers:get("x-osmo-auth") or bearer or session
  if login ~= nil then
    return string.sub(login, -64)
  end
  -- Not the address of x-forwarded-for, which a caller can make up.
  return (string.gsub(request:streamInfo():downstreamDirectRemoteAddress(), ":%d+$", ""))
end

local function is_too_many(request)
  local now = math.floor(os.time() / 60)
  if now ~= minute or callers >= most_callers then
    minute, requests, callers = now, {{}}, 0
  end
  local key = caller(request)
  if requests[key] == nil then
    requests[key], callers = 0, callers + 1
  end
  requests[key] = requests[key] + 1
  return requests[key] > per_minute
end

function envoy_on_request(request)
  local length = request:headers():get("content-length")
  local method = request:headers():get(":method")
  if per_minute > 0 and is_too_many(request) then
    request:respond({{[":status"] = "429", ["retry-after"] = "60"}}, "More than " .. per_minute .. " requests a minute")
  elseif length == nil and (method == "POST" or method == "PUT" or method == "PATCH") then
    request:respond({{[":status"] = "411"}}, "Send the length of the body")
  elseif length ~= nil and (tonumber(length) or math.huge) > body_bytes then
    request:respond({{[":status"] = "413"}}, "The body is larger than " .. body_bytes .. " bytes")
  end
end
"""


def limits_code(limits: GatewayLimits) -> str:
    """Lua code that refuses requests above the limits. A caller is identified by the last 64 characters of the token or
    session; without a login, by the address.
    """
    return _CODE.format(per_minute=limits.requests_per_minute, body_bytes=limits.body_mebibytes << 20, callers=CALLERS)


def limited(limits: GatewayLimits) -> dict[str, Any]:
    """Field `typed_per_filter_config` of a route with these limits."""
    return {FIRST_FILTER: {"@type": LUA, "source_code": {"inline_string": limits_code(limits)}}}
