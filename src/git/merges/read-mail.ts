import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { invalid } from '../../kernel/index.ts';
import type { Signature } from '../objects/parse-objects.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A mail by `git format-patch`. */
export interface PatchMail {
  author: Pick<Signature, 'name' | 'email' | 'offsetMinutes'> & { at: number | null };
  subject: string;
  /** The message below its subject. */
  body: string;
  /** The file with the changes. */
  file: string;
  /** Whether it contains changes: a cover letter does not. */
  hasChanges: boolean;
}

const maxLength = 255;

/**
 * Parses a mail with git-mailinfo(1), which decodes headers and bodies: quoted-printable, base64 and other character
 * sets. Throws `bad_mail` if git cannot decode it, and if author or subject is missing.
 * @param number of the mail, from 1, for messages
 */
export async function readMail(workspace: MergeWorkspace, mail: Buffer, number: number): Promise<PatchMail> {
  const message = path.join(workspace.folder, `message-${number}`);
  const file = path.join(workspace.folder, `patch-${number}`);
  const { code, output } = await workspace.run(['mailinfo', '--encoding=UTF-8', message, file], mail);
  if (code !== 0) throw bad(number, 'git cannot decode it');
  const fields = new Map(
    decoded(output)
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const),
  );
  const email = cleaned(fields.get('Email') ?? '');
  const name = cleaned(fields.get('Author') ?? '') || email;
  const subject = inOneLine(fields.get('Subject') ?? '', 1_000);
  if (email === '') throw bad(number, 'it names no author');
  if (subject === '') throw bad(number, 'it has no subject');
  const changes = await readFile(file);
  return {
    author: { name, email, ...timeOf(fields.get('Date') ?? '') },
    subject,
    body: decoded(await readFile(message)).trim(),
    file,
    hasChanges: hasChanges(changes),
  };
}

/** Whether a text contains changes for git-apply(1). */
export const hasChanges = (text: Buffer): boolean =>
  [text, Buffer.concat([Buffer.from('\n'), text.subarray(0, 100)])].some(
    (each) => each.includes('\ndiff --git ') || each.includes('\n--- ') || each.includes('\nIndex: '),
  );

const bad = (number: number, why: string) =>
  invalid('bad_mail', `Email ${number} cannot be read: ${why}.`, { field: 'patch' });

/** A mail that declares no character set is UTF-8 or else Latin-1. */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Removes characters that git's commit format does not allow in a name. */
const cleaned = (text: string): string => inOneLine(text.replace(/[<>]+/g, ' '), maxLength);

const inOneLine = (text: string, most: number): string =>
  text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed();

/** A date of RFC 5322 with its zone; null if it is invalid, or out of git's range. */
function timeOf(text: string): { at: number | null; offsetMinutes: number } {
  const at = Date.parse(text.slice(0, 100));
  const [, sign, hours, minutes] = /([+-])(\d\d)(\d\d)(?:\s*\(.*)?$/.exec(text.slice(0, 100)) ?? [];
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  const isDate = at >= 0 && at <= Date.UTC(2100, 0, 1) && offset <= 14 * 60;
  return isDate ? { at, offsetMinutes: sign === '-' ? -offset : offset } : { at: null, offsetMinutes: 0 };
}
