/** The valid name that a team of a source has here: letters and digits with single signs between them. */
export const teamNameFrom = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/[-._]{2,}/g, '-')
    .replace(/^[-._]+/, '')
    .slice(0, 39)
    .replace(/[-._]+$/, '') || 'team';
