import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { invalid } from '../kernel/index.ts';
import { openBody } from '../http/index.ts';

/**
 * The body of a git request, inflated when the client compressed it, and bounded while it
 * arrives.
 *
 * @param type the only content type that the route takes
 * @param maxBytes bound of the inflated body; `Infinity` when git bounds it
 * Refuses `unsupported_type`, `unsupported_encoding`, `body_too_large`. The stream fails with
 * `body_too_large`, `bad_encoding` and `request_cut_short`.
 */
export function openGitBody(request: IncomingMessage, type: string, maxBytes: number): Readable {
  if (request.headers['content-type'] !== type) {
    throw invalid('unsupported_type', `This address takes ${type} only.`);
  }
  return openBody(request, {
    maxBytes,
    tooLarge: () => invalid('body_too_large', 'The request is too large.'),
    gzip: {
      names: ['gzip', 'x-gzip'],
      unsupported: () => invalid('unsupported_encoding', 'A request may be compressed with gzip only.'),
    },
    broken: (cause) =>
      isFromZlib(cause)
        ? invalid('bad_encoding', 'The request is not valid gzip.', { cause })
        : invalid('request_cut_short', 'The request ended too early.'),
  });
}

const isFromZlib = ({ code }: NodeJS.ErrnoException): boolean => code?.startsWith('Z_') === true;
