import type { BrowseDeps } from '../objects/browse.ts';
import { parseSignature, signatureOf } from '../objects/parse-objects.ts';
import type { CommitSignature, Signature } from '../objects/parse-objects.ts';

/** The message and tagger of an annotated tag. */
export interface AnnotatedTag {
  tagger: Signature | null;
  message: string;
  signature: CommitSignature | null;
}

const maxTagBytes = 256 * 1024;

/** Tag objects of annotated tags, by the ids in their refs; null for a lightweight tag. */
export async function readTags(
  { readers }: BrowseDeps,
  path: string,
  oids: readonly string[],
): Promise<(AnnotatedTag | null)[]> {
  return readers.use(path, async (reader) => {
    const infos = await reader.infos(oids);
    return Promise.all(
      infos.map(async (info) => {
        if (info?.type !== 'tag' || info.size > maxTagBytes) return null;
        const object = await reader.object(info.oid);
        return object && parseTag(object.content);
      }),
    );
  });
}

function parseTag(content: Buffer): AnnotatedTag {
  const text = content.toString('utf8');
  const blank = text.indexOf('\n\n');
  const head = blank === -1 ? text : text.slice(0, blank);
  const tagger = /^tagger (.*)$/m.exec(head)?.[1];
  const body = blank === -1 ? '' : text.slice(blank + 2);
  const at = body.search(/^-----BEGIN (?:PGP|SSH) SIGNATURE-----$/m);
  // In bytes, because text that is not UTF-8 has another length.
  const start = at === -1 ? -1 : content.lastIndexOf(body.slice(at).split('\n', 1)[0]!);
  return {
    tagger: tagger === undefined ? null : parseSignature(tagger),
    message: (at === -1 ? body : body.slice(0, at)).trim(),
    signature:
      start === -1 ? null : { ...signatureOf(content.toString('latin1', start)), signed: content.subarray(0, start) },
  };
}
