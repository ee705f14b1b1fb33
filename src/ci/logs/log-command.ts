/** How serious an annotation is; names of the commands that make one. */
export const annotationLevels = ['error', 'warning', 'notice'] as const;
export type AnnotationLevel = (typeof annotationLevels)[number];

/** What the index of a log counts or follows. */
export type LogMark = AnnotationLevel | 'group' | 'endgroup';

/** A workflow command in a row of a log: `::error file=app.js,line=1::Message`, or `##[error]Message`. */
export interface LogCommand {
  name: LogMark | 'debug' | 'command';
  /** By name in lower case, decoded. */
  properties: ReadonlyMap<string, string>;
  /** The message, decoded. */
  message: string;
}

/** Properties end at the first `::`, which their values carry in escapes. */
const doubleColon = /^::(error|warning|notice|debug|group|endgroup)(?: ((?:[^:]|:(?!:))*))?::/;
const bracket = /^##\[(error|warning|notice|debug|group|endgroup|command)\]/;

const decoded: Readonly<Record<string, string>> = { '25': '%', '0D': '\r', '0A': '\n', '3A': ':', '2C': ',' };

/** Decodes the escapes of a message, or those of a property, which has two more. Each is decoded once. */
const decode = (text: string, escapes: RegExp): string =>
  text.replace(escapes, (_, code: string) => decoded[code.toUpperCase()]!);
const ofMessage = /%(25|0D|0A)/gi;
const ofProperty = /%(25|0D|0A|3A|2C)/gi;

/** The command that a row of a log holds, by its content; null for any other row. */
export function readLogCommand(content: string): LogCommand | null {
  if (content.startsWith('[command]')) return { name: 'command', properties: new Map(), message: content.slice(9) };
  const found = content.startsWith('::') ? doubleColon.exec(content) : bracket.exec(content);
  if (found === null) return null;
  return {
    name: found[1] as LogCommand['name'],
    properties: new Map(
      (found[2] ?? '').split(',').flatMap((pair): [string, string][] => {
        const equals = pair.indexOf('=');
        if (equals < 1) return [];
        return [[pair.slice(0, equals).trim().toLowerCase(), decode(pair.slice(equals + 1).trim(), ofProperty)]];
      }),
    ),
    message: decode(content.slice(found[0].length), ofMessage),
  };
}

const isMark = (name: string): name is LogMark => name !== 'debug' && name !== 'command';

/** What the index notes about a row, by its content. */
export function markOf(content: string): LogMark | null {
  const name = (content.startsWith('::') ? doubleColon : bracket).exec(content)?.[1];
  return name !== undefined && isMark(name) ? name : null;
}
