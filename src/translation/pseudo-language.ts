const plain = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const accented = [...'åƀçďéƒĝĥîĵķļɱñøþɋřšţüṽŵẋýžÅƁÇĎÉƑĜĤÎĴĶĻḾÑØÞɊŘŠŢÜṼŴẊÝŽ'];

/** Adds an accent to every letter, so a word without accents did not come from the catalogue. */
const accents: Readonly<Record<string, string>> = Object.fromEntries(
  [...plain].map((letter, index) => [letter, accented[index]!]),
);

/** Transforms the text outside of braces and tags; placeholders and plural keywords stay. */
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

/** Half as long again, like the longest European languages. */
const longer = (text: string): string =>
  text.replace(/[A-Za-z]+/g, (word) => {
    const accentedWord = word.replace(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter);
    return accentedWord + accentedWord.slice(-Math.ceil(word.length / 2));
  });

/** Transforms an English message into a pseudo-language. */
export const pseudoMessage: Readonly<Record<string, ((message: string) => string) | undefined>> = {
  'en-XA': (message) => changeText(message, longer),
  // Only changes the direction: the letters stay readable, between direction marks (U+202E, U+202C).
  'ar-XB': (message) => changeText(message, (text) => text.replace(/[A-Za-z]+/g, '\u202e$&\u202c')),
};
