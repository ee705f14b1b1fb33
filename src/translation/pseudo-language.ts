const plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const accented = [...'åƀçďéƒĝĥîĵķļɱñøþɋřšţüṽŵẋýžÅƁÇĎÉƑĜĤÎĴĶĻḾÑØÞɊŘŠŢÜṼŴẊÝŽ'];

/** Every letter has an accent, so a word without one did not come from the catalogue. */
const accents: Readonly<Record<string, string>> = Object.fromEntries(
  [...plain].map((letter, index) => [letter, accented[index]!]),
);

/** The text outside of braces and tags, changed; placeholders and the words of plurals stay. */
function changeText(message: string, change: (text: string) => string): string {
  let depth = 0;
  return message
    .split(/([{}]|<[^>]*>)/)
    .map((part) => {
      if (part === '{') depth += 1;
      else if (part === '}') depth -= 1;
      else if (!part.startsWith('<') && depth % 2 === 0) return change(part);
      return part;
    })
    .join('');
}

/** Half as long again, as the longest European languages are. */
const longer = (text: string): string =>
  text.replace(/[A-Za-z]+/g, (word) => {
    const accentedWord = word.replace(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter);
    return accentedWord + accentedWord.slice(-Math.ceil(word.length / 2));
  });

/** What a made-up language does with an English message. */
export const pseudoMessage: Readonly<Record<string, ((message: string) => string) | undefined>> = {
  'en-XA': (message) => changeText(message, longer),
  // Direction only: the letters stay readable, between marks that turn them (U+202E, U+202C).
  'ar-XB': (message) => changeText(message, (text) => text.replace(/[A-Za-z]+/g, '\u202e$&\u202c')),
};
