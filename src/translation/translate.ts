import { AsyncLocalStorage } from 'node:async_hooks';
import { formatMessage, formatParts } from './catalogue.ts';
import type { MessagePart, MessageValues } from './catalogue.ts';
import { findLanguage, sourceLanguage } from './languages.ts';

const reader = new AsyncLocalStorage<string>();

/**
 * Runs `act`, and everything that it waits for, in a language: pages of a request, a mail to one person. What runs
 * outside (API, logs, audit, the command line) is in English.
 */
export const inLanguage = <Result>(code: string, act: () => Result): Result => reader.run(code, act);

/** The code of the language in which words are written here. */
export const currentLanguage = (): string => reader.getStore() ?? sourceLanguage;

/** The locale of dates and numbers of the present language. */
export const currentLocale = (): string => {
  const code = currentLanguage();
  return findLanguage(code)?.formats ?? code;
};

/**
 * A message in the present language.
 * @param key its place: `pulls.merge_box.conflicts`
 * @returns English where the translation is missing or broken
 */
export const t = (key: string, values?: MessageValues): string => formatMessage(currentLanguage(), key, values);

/** Elements of a template by the names that its message has in tags: `{ link: { href: '/explore' } }`. */
type Elements = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A part of a page: text, or an element with its attributes. */
type RichPart = string | { tag: string; attributes: Readonly<Record<string, unknown>>; parts: RichPart[] };

/** Names of tags that stand for an element of that name; every other name is a link, or what its `tag` says. */
const ownElements = new Set(['strong', 'em', 'code', 'kbd', 'span', 'b', 'q', 'time', 'bdi', 'small']);
/** Tags that need no attributes, so that every message may have them. */
const plainElements = ['strong', 'em', 'code', 'kbd', 'q'];

/** A message whose tags are elements of the template, for the mixin `rich`: a message never holds HTML. */
export function rich(key: string, values: MessageValues = {}, elements: Elements = {}): RichPart[] {
  const tags = [...plainElements, ...Object.keys(elements)];
  const toRich = (part: MessagePart): RichPart => {
    if (typeof part === 'string') return part;
    const { tag = ownElements.has(part.tag) ? part.tag : 'a', ...attributes } = elements[part.tag] ?? {};
    return { tag: String(tag), attributes, parts: part.parts.map(toRich) };
  };
  return formatParts(currentLanguage(), key, values, tags).map(toRich);
}
