/** The output by which a runner tells the address of an environment; nobody else sees it. */
export const environmentUrlOutput = 'HEARTH_ENVIRONMENT_URL';

const maxUrlLength = 2_000;

/** An address that a page may link to; null for anything else. */
export function readEnvironmentUrl(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed.length > maxUrlLength || !URL.canParse(trimmed)) return null;
  const { protocol, username, password } = new URL(trimmed);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? trimmed : null;
}
