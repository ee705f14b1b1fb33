const unprintable = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name from git on one line as it can be trusted: control characters and those
 * that turn the direction of the text around them become a visible mark.
 */
export function viewName(name: string): string {
  return name.replace(unprintable, '\ufffd');
}
