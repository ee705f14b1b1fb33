import type { AdvertiseRefs } from './advertise-refs.ts';
import { RequestStream } from './request-stream.ts';
import type { ServeDeps, UploadOutcome, UploadRequest } from './serve-fetch.ts';
import { send } from '../transfer.ts';

/** Size limit of a request in bytes. A fetch request is a list of object ids; no client needs more. */
const maxRequestBytes = 64 * 1024 * 1024;

/**
 * Serves one session of protocol version 2, as over SSH: capabilities, then requests until the client has no more.
 * Requests are independent of each other (gitprotocol-v2), so each is served like one over HTTP, and git starts only
 * for those that need it. Throws `fetch_stalled` if the client sends nothing for too long, `bad_packet`, `bad_fetch`,
 * and the errors of `respond`.
 */
export async function serveSession(
  deps: ServeDeps & { advertiseRefs: AdvertiseRefs },
  request: UploadRequest,
  respond: (bytes: Buffer) => Promise<UploadOutcome>,
): Promise<UploadOutcome> {
  const { path, protocol, output, signal, stallMs = deps.limits.stallMs } = request;
  const greeting = await deps.advertiseRefs({ path, service: 'upload-pack', protocol, signal });
  await send(output, greeting);
  const requests = new RequestStream({ ...request, stallMs, maxBytes: maxRequestBytes });
  try {
    let bytes = greeting.length;
    for (let next = await requests.next(); next !== null; next = await requests.next()) {
      const outcome = await respond(next);
      bytes += outcome.bytes;
      if (outcome.exitCode !== 0 || outcome.cutShort) return { ...outcome, bytes };
    }
    return { exitCode: 0, cutShort: false, bytes };
  } finally {
    requests.end();
  }
}
