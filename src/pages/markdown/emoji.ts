import { nameToEmoji } from 'gemoji';

const shortCode = /(?<![\w/:]):([a-z0-9+_-]{1,40}):(?![\w:])/g;

/** Replaces short codes such as `:tada:` with their characters; unknown names stay. */
export const replaceShortCodes = (text: string): string =>
  text.includes(':')
    ? text.replace(shortCode, (whole, name: string) => (Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name]! : whole))
    : text;
