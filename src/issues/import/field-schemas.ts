import { z } from 'zod';
import { parseText } from '../../accounts/index.ts';
import { limits } from '../limits.ts';
import { importLimits } from './import-source.ts';

/** Schemas of fields in export files. */

export const time = z.iso.datetime().transform((text) => Date.parse(text));
export const maybe = <T extends z.ZodType>(type: T) => type.nullable().default(null);
export const uuid = z.uuid();
/** The full id of a commit. */
export const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** One line without control characters and direction marks, as in forms. */
export const line = (maxCharacters: number) =>
  z.string().transform((given, context) => {
    try {
      return parseText(given, { field: 'text', called: 'The text', maxCharacters });
    } catch {
      context.addIssue({ code: 'custom', message: `is no line of at most ${maxCharacters} characters` });
      return z.NEVER;
    }
  });

export const text = z.string().transform((given, context) => {
  const plain = given.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(plain) <= limits.bodyBytes) return plain;
  context.addIssue({ code: 'custom', message: 'is longer than 64 KiB' });
  return z.NEVER;
});

export const person = z.object({ name: line(100), id: uuid.optional() });
export const number = z.int().min(1).max(importLimits.highestNumber);
