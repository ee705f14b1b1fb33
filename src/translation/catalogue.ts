import type { IntlMessageFormat } from 'intl-messageformat';
import { embedded } from '../embedded/index.ts';
import { findLanguage, sourceLanguage } from './languages.ts';
import { pseudoMessage } from './pseudo-language.ts';

/** A value for a message; the message formats dates and numbers itself: `{at, date, long}`, `{size, number}`. */
type MessageValue = string | number | Date | null | undefined;
export type MessageValues = Readonly<Record<string, MessageValue>>;

/** A part of a message: text, or a tag of the message with its content. */
export type MessagePart = string | { tag: string; parts: MessagePart[] };

/** A message prepared for formatting. */
type Compiled =
  | string
  /** Text and the names of values alternately, beginning with text. */
  | readonly string[]
  | IntlMessageFormat;

interface Catalogue {
  code: string;
  messages: Readonly<Record<string, string>>;
  compiled: Map<string, Compiled | null>;
}

const catalogues = new Map<string, Catalogue>();

function catalogueOf(code: string): Catalogue {
  let catalogue = catalogues.get(code);
  if (catalogue === undefined) catalogues.set(code, (catalogue = { code, messages: load(code), compiled: new Map() }));
  return catalogue;
}

/** An unreadable file has no messages: pages are in English then. `scripts/check-translations` refuses it. */
function load(code: string): Readonly<Record<string, string>> {
  try {
    const source = pseudoMessage[code] === undefined ? code : sourceLanguage;
    const messages = JSON.parse(embedded.translation(source)) as Readonly<Record<string, string>>;
    const change = pseudoMessage[code];
    if (change === undefined) return messages;
    return Object.fromEntries(Object.entries(messages).map(([key, text]) => [key, change(text)]));
  } catch {
    return {};
  }
}

/**
 * Formats messages that contain only plain names in braces without the library: half of all, at a tenth of the cost.
 */
function compile(text: string, code: string): Compiled {
  if (!/[{}<>]|''/.test(text)) return text;
  const parts = text.split(/\{\s*(\w+)\s*\}/);
  if (parts.every((part, index) => index % 2 === 1 || !/[{}<>']/.test(part))) return parts;
  const library = embedded.library('message-format') as { IntlMessageFormat: typeof IntlMessageFormat };
  return new library.IntlMessageFormat(text, findLanguage(code)?.formats ?? code);
}

function compiledOf(catalogue: Catalogue, key: string): Compiled | null {
  let compiled = catalogue.compiled.get(key);
  if (compiled === undefined) {
    const text = Object.hasOwn(catalogue.messages, key) ? catalogue.messages[key] : undefined;
    try {
      compiled = typeof text === 'string' && text !== '' ? compile(text, catalogue.code) : null;
    } catch {
      compiled = null;
    }
    catalogue.compiled.set(key, compiled);
  }
  return compiled;
}

const asText = (value: MessageValue): string => (value === null || value === undefined ? '' : String(value));

/** The message as built by `make`; in English where this language lacks it or has a broken one; null without both. */
function inTurn<Made>(code: string, key: string, make: (compiled: Compiled) => Made): Made | null {
  for (const language of code === sourceLanguage ? [code] : [code, sourceLanguage]) {
    const compiled = compiledOf(catalogueOf(language), key);
    if (compiled === null) continue;
    try {
      return make(compiled);
    } catch {
      // This translation names a value or tag that the caller does not provide: try the next language.
    }
  }
  return null;
}

/** One message as text; the key itself where no language has it. */
export function formatMessage(code: string, key: string, values: MessageValues = {}): string {
  const text = inTurn(code, key, (compiled) => {
    if (typeof compiled === 'string') return compiled;
    if (isParts(compiled))
      return compiled.map((part, i) => (i % 2 === 0 ? part : asText(given(values, part)))).join('');
    return String(compiled.format(values as Record<string, string>));
  });
  return text ?? key;
}

/**
 * One message as parts, for a template that renders its tags as elements.
 * @param tags the names that the template knows; a translation with any other tag is not used
 */
export function formatParts(code: string, key: string, values: MessageValues, tags: readonly string[]): MessagePart[] {
  const parts = inTurn(code, key, (compiled) => {
    if (typeof compiled === 'string') return [compiled];
    if (isParts(compiled)) return compiled.map((part, i) => (i % 2 === 0 ? part : asText(given(values, part))));
    const makers = Object.fromEntries(
      tags.map((tag) => [tag, (chunks: MessagePart[]): MessagePart => ({ tag, parts: chunks })]),
    );
    const made = compiled.format<MessagePart>({ ...values, ...makers } as never) as MessagePart | MessagePart[];
    return Array.isArray(made) ? made : [made];
  });
  return parts ?? [key];
}

const isParts = (compiled: Compiled): compiled is readonly string[] => Array.isArray(compiled);

function given(values: MessageValues, name: string): MessageValue {
  if (!Object.hasOwn(values, name)) throw new Error(`The message wants a value {${name}}`);
  return values[name];
}

/** Whether a language, or English, has the message. */
export const hasMessage = (key: string): boolean => compiledOf(catalogueOf(sourceLanguage), key) !== null;

/** The keys of English messages with this prefix. */
export const listKeys = (start: string): string[] =>
  Object.keys(catalogueOf(sourceLanguage).messages).filter((key) => key.startsWith(start));

/** The source of the English message of a key. */
export const sourceMessage = (key: string): string => catalogueOf(sourceLanguage).messages[key] ?? '';
