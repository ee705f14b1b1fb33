type EmojiByName = Readonly<Record<string, string>>;

const shortCode = /(?<![\w/:]):([a-z0-9+_-]{1,40}):(?![\w:])/g;
let loaded: EmojiByName = {};

/** Loads the table of two thousand names, which a start does not need. */
export async function loadEmoji(): Promise<void> {
  loaded = (await import('gemoji')).nameToEmoji;
}

/** Replaces short codes such as `:tada:` with their characters; unknown names stay. By default after `loadEmoji`. */
export const replaceShortCodes = (text: string, names: EmojiByName = loaded): string =>
  text.includes(':')
    ? text.replace(shortCode, (whole, name: string) => (Object.hasOwn(names, name) ? names[name]! : whole))
    : text;
