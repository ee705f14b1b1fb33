import { AsyncLocalStorage } from 'node:async_hooks';
import { formatMessage, formatParts } from './catalogue.ts';
import type { MessagePart, MessageValues } from './catalogue.ts';
import { findLanguage, sourceLanguage } from './languages.ts';

const reader = new AsyncLocalStorage<string>();

/**
 * Runs `act`, and everything that it awaits, in a language: for the pages of a request, or a mail to one user.
 * Everything else (API, logs, audit, the command line) is in English.
 */
export const inLanguage = <Result>(code: string, act: () => Result): Result => reader.run(code, act);

/** The code of the current language. */
export const currentLanguage = (): string => reader.getStore() ?? sourceLanguage;

/** The locale of dates and numbers of the current language. */
export const currentLocale = (): string => {
  const code = currentLanguage();
  return findLanguage(code)?.formats ?? code;
};

/**
 * A message in the current language.
 * @param key path in the catalogue: `pulls.merge_box.conflicts`
 * @returns English where the translation is missing or broken
 */
export const t = (key: string, values?: MessageValues): string => formatMessage(currentLanguage(), key, values);

/** Elements of a template by the tag names in its message: `{ link: { href: '/explore' } }`. */
type Elements = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A value of a message that a mixin of the template renders: `{ at: { when: time } }`, `{ who: { person } }`. */
interface Slot {
  when?: unknown;
  person?: unknown;
  author?: unknown;
}

/** A part of a page: text, an element with its attributes, or the content of a mixin. */
type RichPart = string | Slot | { tag: string; attributes: Readonly<Record<string, unknown>>; parts: RichPart[] };

/** Tags that are elements of the same name; every other name is a link, or the element in its `tag`. */
const ownElements = new Set(['strong', 'em', 'code', 'kbd', 'span', 'b', 'q', 'time', 'bdi', 'small']);
/** Tags without attributes, allowed in every message. */
const plainElements = ['strong', 'em', 'code', 'kbd', 'q', 'bdi'];

/** Marks the position of a slot while the message is formatted: user text never contains NUL. */
const mark = (name: string): string => `\0${name}\0`;
const isSlot = (element: Readonly<Record<string, unknown>>): boolean =>
  'when' in element || 'person' in element || 'author' in element;

/**
 * A message whose tags are elements of the template, for the mixin `rich`: a message never contains HTML.
 * @param elements attributes by the name of a tag, or slots by the name of a value
 */
export function rich(key: string, values: MessageValues = {}, elements: Elements = {}): RichPart[] {
  const slots = Object.entries(elements).filter(([, element]) => isSlot(element));
  const marks = Object.fromEntries(slots.map(([name]) => [name, mark(name)]));
  const tags = [...plainElements, ...Object.keys(elements).filter((name) => marks[name] === undefined)];
  const toRich = (part: MessagePart): RichPart[] => {
    if (typeof part === 'string') return slots.length === 0 ? [part] : withSlots(part, elements);
    const { tag = ownElements.has(part.tag) ? part.tag : 'a', ...attributes } = elements[part.tag] ?? {};
    return [{ tag: String(tag), attributes, parts: part.parts.flatMap(toRich) }];
  };
  return formatParts(currentLanguage(), key, { ...values, ...marks }, tags).flatMap(toRich);
}

/** Replaces the marks in a text with their slots. */
const withSlots = (text: string, elements: Elements): RichPart[] =>
  text
    .split('\0')
    .map((piece, index): RichPart => (index % 2 === 0 ? piece : ((elements[piece] as Slot | undefined) ?? piece)))
    .filter((piece) => piece !== '');
