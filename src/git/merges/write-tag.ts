import { checked } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { personLine } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

export interface TagRequest {
  /** The commit that is tagged: a full id. */
  target: string;
  /** Without `refs/tags/`. */
  name: string;
  tagger: Signature;
  message: string;
  /** Signs the tag like a commit. */
  sign?: SignCommit | undefined;
}

/**
 * Writes the object of an annotated tag (git-mktag(1)). A signature follows the message, where git looks for it.
 * @returns the id of the tag object
 */
export async function writeTag(
  workspace: MergeWorkspace,
  { target, name, tagger, message, sign }: TagRequest,
): Promise<string> {
  const text = message.toWellFormed().replaceAll('\0', '').trimEnd();
  const lines = [`object ${checked(target)}`, 'type commit', `tag ${name}`, `tagger ${personLine(tagger)}`, '', text];
  const unsigned = Buffer.from(`${lines.join('\n')}\n`);
  const payload =
    sign === undefined ? unsigned : Buffer.concat([unsigned, Buffer.from(`${(await sign(unsigned)).trimEnd()}\n`)]);
  return workspace.writeObject('tag', payload, target.length);
}
