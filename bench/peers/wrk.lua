-- Other addresses, because Hearth limits the work per minute of anonymous clients.
local client = 0

-- The body is passed as hexadecimal digits after the URL.
init = function(args)
  if args[1] ~= nil then
    wrk.method = "POST"
    wrk.body = args[1]:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end)
  end
end

request = function()
  client = client + 1
  wrk.headers["X-Forwarded-For"] = string.format("198.51.%d.%d", client % 250, math.floor(client / 250) % 250)
  return wrk.format()
end

done = function(summary, latency, requests)
  io.write(string.format(
    '\n{"requests":%d,"us":%d,"bytes":%d,"failed":%d,"p50Us":%d,"p95Us":%d}\n',
    summary.requests, summary.duration, summary.bytes,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout,
    latency:percentile(50), latency:percentile(95)
  ))
end
