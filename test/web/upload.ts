// multipart(parts, {boundary?}) → {type, body}: a form with files, byte for byte as asked.
// upload(web, who, path, parts, more?) → the answer to it, sent as a browser does.
import type { Answer, AskOptions, Visitor, Web } from './web-fixture.ts';
import { ask } from './web-fixture.ts';

export interface Part {
  name: string;
  bytes: Buffer | string;
  /** Left out with `null`: a plain field. */
  fileName?: string | null;
  type?: string | null;
}

const boundary = '----hearth0123456789';

export function multipart(parts: readonly Part[]): { type: string; body: Buffer } {
  const chunks = parts.flatMap(({ name, bytes, fileName = 'picture.png', type = 'image/png' }) => {
    const disposition = `Content-Disposition: form-data; name="${name}"${fileName === null ? '' : `; filename="${fileName}"`}`;
    const head = [`--${boundary}`, disposition, ...(type === null ? [] : [`Content-Type: ${type}`]), '', ''].join(
      '\r\n',
    );
    return [Buffer.from(head), Buffer.from(bytes), Buffer.from('\r\n')];
  });
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

export function cookieOf({ cookies }: Pick<Visitor, 'cookies'>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

export function upload(
  web: Web,
  who: Pick<Visitor, 'cookies'>,
  path: string,
  parts: readonly Part[],
  { headers = {}, body }: Pick<AskOptions, 'headers' | 'body'> = {},
): Promise<Answer> {
  const form = multipart(parts);
  return ask(web, path, {
    method: 'POST',
    body: body ?? form.body,
    headers: { 'Content-Type': form.type, Origin: web.origin, Cookie: cookieOf(who), ...headers },
  });
}
