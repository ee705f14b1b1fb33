const unprintable = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name from git on one line, safe to read: control characters and direction-changing characters become a visible
 * mark.
 */
export function viewName(name: string): string {
  return name.replace(unprintable, '\ufffd');
}

/**
 * A line of code as text: keeps tabs, drops a carriage return at its end, and otherwise follows the rules for names.
 */
export const viewCodeText = (line: string): string => line.replace(/\r$/, '').split('\t').map(viewName).join('\t');
