import { domainToASCII } from 'node:url';
import { invalid } from '../../kernel/index.ts';

/** RFC 5321 §4.5.3.1: 64 octets before the `@`, and 254 in total (a path of 256 minus its brackets). */
const maxLocalBytes = 64;
const maxAddressBytes = 254;

/** A dot-atom of RFC 5322 §3.2.3: no quotes, no comments, no spaces. */
const localShape = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
/** A domain as typed: ASCII host names, or letters that IDNA maps to them. */
const typedDomain = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/iu;
const domainShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** An address as stored. */
export interface ParsedAddress {
  /** The form that is shown and sent to: the local part as typed, the domain as A-labels (`xn--…`) in lower case. */
  address: string;
  /** The form for comparison: all in lower case. */
  key: string;
}

/**
 * Parses an address strictly: rejects what a mail server, a log and two people would read differently.
 *
 * The local part is an ASCII dot-atom. Quoted local parts may contain spaces, `@` and line breaks. International ones
 * (RFC 6531) are delivered only if every server on the way supports SMTPUTF8, and their letters have look-alikes: the
 * Cyrillic а in `аlice` would make a second address that looks the same as the first. The domain may be international;
 * it is stored as A-labels, which reveal look-alikes. Comparison ignores case: for domains by the standard, for local
 * parts because no provider gives `Alice@` and `alice@` to two people. Rejects single labels (`nas`), which are host
 * names of home networks.
 *
 * @returns null for invalid addresses
 */
export function readAddress(text: unknown): ParsedAddress | null {
  if (typeof text !== 'string' || text.length > maxAddressBytes) return null;
  const at = text.indexOf('@');
  if (at < 1 || at !== text.lastIndexOf('@')) return null;
  const local = text.slice(0, at);
  const typed = text.slice(at + 1);
  if (local.length > maxLocalBytes || !localShape.test(local) || !typedDomain.test(typed)) return null;
  const domain = domainToASCII(typed).toLowerCase();
  if (!domainShape.test(domain) || numericEnd.test(domain)) return null;
  const address = `${local}@${domain}`;
  return address.length > maxAddressBytes ? null : { address, key: address.toLowerCase() };
}

/** The key by which addresses are compared; null for an invalid address. */
export const addressKey = (text: unknown): string | null => readAddress(text)?.key ?? null;

/**
 * Parses an address typed by a user; ignores surrounding space. Throws `invalid`: `invalid_address`, with field
 * `address`.
 */
export function parseAddress(text: unknown): ParsedAddress {
  const parsed = readAddress(typeof text === 'string' ? text.slice(0, 4 * maxAddressBytes).trim() : text);
  if (parsed !== null) return parsed;
  throw invalid(
    'invalid_address',
    'Enter an email address such as alice@example.org. Before the @, use unaccented letters, digits, and characters such as dots, hyphens and plus signs.',
    { field: 'address' },
  );
}
