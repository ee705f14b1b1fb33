import { rich } from '../../translation/index.ts';
import type { MessageValues } from '../../translation/index.ts';
import type { EventPart } from './event-part.ts';

/**
 * A sentence of the catalogue in segments: each tag is replaced by the segment of that name, in the order that the
 * language needs. `changed the title from <from></from> to <to></to>`
 */
export function eventSentence(
  key: string,
  segments: Readonly<Record<string, readonly EventPart[]>> = {},
  values: MessageValues = {},
): EventPart[] {
  const elements = Object.fromEntries(Object.keys(segments).map((tag) => [tag, { tag }]));
  return rich(key, values, elements).flatMap((part) =>
    typeof part === 'string' ? [{ text: part }] : 'tag' in part ? [...(segments[part.tag] ?? [])] : [],
  );
}
