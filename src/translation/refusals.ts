import { listKeys, sourceMessage } from './catalogue.ts';
import { sourceLanguage } from './languages.ts';
import { currentLanguage, t } from './translate.ts';

/** The content of an error: a stable reason, and a sentence in English. */
interface RefusalWords {
  reason: string;
  message: string;
}

/** A sentence of the catalogue: text and the names of values alternately, beginning and ending with text. */
interface Sentence {
  key: string;
  parts: readonly string[];
}

/** Longer than any sentence of a refusal. */
const longest = 4_000;

let sentences: Map<string, Sentence[]> | null = null;
/** Keys of terms that occur as values in sentences, such as `The title`, by their English text. */
let terms: Map<string, string> | null = null;

/**
 * Translates an English word or sentence of another module, such as the reason of a job, for the reader; unchanged if
 * the catalogue lacks it: `terms.*`.
 */
export function translateTerm(text: string): string {
  if (currentLanguage() === sourceLanguage) return text;
  terms ??= new Map(listKeys('terms.').map((key) => [sourceMessage(key), key]));
  const key = terms.get(text);
  if (key !== undefined) return t(key);
  const [, count, unit] = /^(\d{1,6}) (second|minute|hour|day)s?$/.exec(text) ?? [];
  if (unit !== undefined) return t(`terms.count_${unit}`, { count: Number(count) });
  const [, ended, took] = /^(Successful|Failed) after ((?:\d{1,6} [hms] ?){1,2})$/.exec(text) ?? [];
  return ended === undefined ? text : t(`terms.${ended.toLowerCase()}_after`, { took });
}

/**
 * Sentences by reason: `errors.name_taken`, `errors.name_taken.2`. Created with the first refusal in another language.
 */
function sentencesOf(reason: string): readonly Sentence[] {
  if (sentences === null) {
    sentences = new Map();
    for (const key of listKeys('errors.')) {
      const [, owner = ''] = key.split('.');
      const known = sentences.get(owner) ?? [];
      known.push({ key, parts: sourceMessage(key).split(/\{(\w+)\}/) });
      sentences.set(owner, known);
    }
  }
  return sentences.get(reason) ?? [];
}

/** Extracts the values of a sentence from an English text, in linear time; null if the text is a different sentence. */
function matchSentence(parts: readonly string[], text: string): Record<string, string> | null {
  const first = parts[0]!;
  if (parts.length === 1) return text === first ? {} : null;
  const last = parts.at(-1)!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return null;
  const values: Record<string, string> = {};
  const end = text.length - last.length;
  let at = first.length;
  for (let index = 1; index < parts.length; index += 2) {
    const next = index + 2 < parts.length ? text.indexOf(parts[index + 1]!, at) : end;
    if (next === -1 || next > end) return null;
    values[parts[index]!] = text.slice(at, next);
    at = next + parts[index + 1]!.length;
  }
  return values;
}

/**
 * The sentence of an error in the reader's language. Errors carry a reason and an English sentence, which the API, JSON
 * and logs show; its values are extracted with the English message of the same reason.
 * @returns the English sentence where the catalogue has no other
 */
export function translateRefusal({ reason, message }: RefusalWords): string {
  if (currentLanguage() === sourceLanguage || message.length > longest) return message;
  for (const { key, parts } of sentencesOf(reason)) {
    const values = matchSentence(parts, message);
    if (values === null) continue;
    return t(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, translateTerm(value)])));
  }
  return message;
}
