import { annotationLevels, readLogCommand } from '../log-command.ts';
import type { AnnotationLevel } from '../log-command.ts';
import type { AnnotationRow } from '../schema/annotation-schema.ts';

type ParsedAnnotation = Pick<AnnotationRow, 'level' | 'path' | 'firstLine' | 'lastLine' | 'title' | 'message'>;

/** Limits in characters; the log has the full text. */
const maxPath = 1_000;
const maxTitle = 255;
const maxMessage = 4_000;

const lastLineNumber = 2_147_483_647;

/**
 * Newer versions of Gitea's runner write the properties into the message: `::error::main.go:12:5: vet: undefined: x`.
 * Only text that looks like a path is parsed.
 */
const placeInMessage = /^([^\s:]{1,1000}):(\d{1,9})(?::\d{1,9})?: ([^]+)$/;
const looksLikePath = /[./]/;

/** Folders into which runners check out a repository: everything before the path in the repository. */
const workspaces = /^(?:\/github\/workspace\/|\/workspace\/[^/]+\/[^/]+\/|.*\/hostexecutor\/|\.\/)/;

/** Parses the annotation in the content of a log row; null if it has none. */
export function parseAnnotation(content: string): ParsedAnnotation | null {
  const command = readLogCommand(content);
  if (command === null || !isLevel(command.name)) return null;
  const { properties } = command;
  const file = properties.get('file');
  const inMessage = file === undefined ? placeInMessage.exec(command.message) : null;
  const [, path, line, rest] = inMessage !== null && looksLikePath.test(inMessage[1]!) ? inMessage : [];
  const place =
    path === undefined
      ? readPlace(file, properties.get('line'), properties.get('endline'))
      : readPlace(path, line, undefined);
  const title = clean(properties.get('title') ?? '').slice(0, maxTitle);
  return {
    level: command.name,
    ...place,
    title: title === '' ? null : title,
    message: clean(place.path === null || rest === undefined ? command.message : rest).slice(0, maxMessage),
  };
}

const isLevel = (name: string): name is AnnotationLevel => (annotationLevels as readonly string[]).includes(name);

function readPlace(
  file: string | undefined,
  line: string | undefined,
  endLine: string | undefined,
): Pick<AnnotationRow, 'path' | 'firstLine' | 'lastLine'> {
  const path = clean(file ?? '')
    .replaceAll('\\', '/')
    .replace(workspaces, '');
  if (path === '' || path.startsWith('/') || path.length > maxPath)
    return { path: null, firstLine: null, lastLine: null };
  const firstLine = readLine(line);
  const lastLine = firstLine === null ? null : Math.max(firstLine, readLine(endLine) ?? firstLine);
  return { path, firstLine, lastLine };
}

function readLine(text: string | undefined): number | null {
  const line = /^\d{1,10}$/.test(text ?? '') ? Number(text) : 0;
  return line >= 1 && line <= lastLineNumber ? line : null;
}

/** PostgreSQL cannot store NUL or unpaired surrogates. */
const clean = (text: string): string => text.replaceAll('\0', '').toWellFormed().trim();
