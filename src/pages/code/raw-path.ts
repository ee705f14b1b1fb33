import { HttpError } from '../../http/index.ts';

/**
 * Decodes what follows the page's name in a URL to bytes: `main/%FF` in `/repos/o/n/tree/main/%FF`. The router decodes
 * to text; names in git are bytes. Throws 400 for an invalid escape or a NUL.
 */
export function rawPath(path: string): Buffer {
  const rest = path.split('/').slice(5).join('/');
  if (/%(?![0-9a-f]{2})/i.test(rest)) throw new HttpError(400, 'This URL contains an invalid percent escape.');
  const bytes = Buffer.from(
    rest.replace(/%([0-9a-f]{2})|[^\x00-\x7f]/gi, (part, hex?: string) =>
      hex === undefined ? Buffer.from(part).toString('latin1') : String.fromCharCode(parseInt(hex, 16)),
    ),
    'latin1',
  );
  if (bytes.includes(0)) throw new HttpError(400, 'This URL contains a NUL character.');
  return bytes;
}
