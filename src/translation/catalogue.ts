import type { IntlMessageFormat } from 'intl-messageformat';
import { embedded } from '../embedded/index.ts';
import { findLanguage, sourceLanguage } from './languages.ts';
import { pseudoMessage } from './pseudo-language.ts';

/** What a message can be given; it formats dates and numbers itself: `{at, date, long}`, `{size, number}`. */
type MessageValue = string | number | Date | null | undefined;
export type MessageValues = Readonly<Record<string, MessageValue>>;

/** A part of a message: text, or a tag of the message with what it holds. */
export type MessagePart = string | { tag: string; parts: MessagePart[] };

/** A message that is ready to be formatted. */
type Compiled =
  | string
  /** Text and the names of values in turn, beginning with text. */
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

/** A file that cannot be read has no messages: pages are in English then. `scripts/check-translations` refuses it. */
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

/** Messages with nothing but names in braces are put together here: half of all, at a tenth of the cost. */
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

/** The message, put together by `make`; in English where this language has none or a broken one; null without both. */
function inTurn<Made>(code: string, key: string, make: (compiled: Compiled) => Made): Made | null {
  for (const language of code === sourceLanguage ? [code] : [code, sourceLanguage]) {
    const compiled = compiledOf(catalogueOf(language), key);
    if (compiled === null) continue;
    try {
      return make(compiled);
    } catch {
      // A value or a tag that this translation names and nobody gives: the next language.
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
 * One message as parts, for a template that puts elements around what the message has in tags.
 * @param tags the names that the template knows; a translation with another one is not used
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

/** The keys of English messages that begin with a text. */
export const listKeys = (start: string): string[] =>
  Object.keys(catalogueOf(sourceLanguage).messages).filter((key) => key.startsWith(start));

/** The English message of a key, as it is written. */
export const sourceMessage = (key: string): string => catalogueOf(sourceLanguage).messages[key] ?? '';
