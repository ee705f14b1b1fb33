/** Receivers parse ids as integers; the leading digits of a UUID fit in the integers of every language. */
export const numericId = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16) || 0;
