const unprintable = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name from git on one line as it can be trusted: control characters and those
 * that turn the direction of the text around them become a visible mark.
 */
export function viewName(name: string): string {
  return name.replace(unprintable, '\ufffd');
}

/** A line of code as text: tabs stay, a carriage return at its end does not show, all else is as in names. */
export const viewCodeText = (line: string): string => line.replace(/\r$/, '').split('\t').map(viewName).join('\t');
