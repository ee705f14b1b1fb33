import type { Owners } from '../owners/index.ts';

/** The operations of a user or organisation, by the start of their path. */
const ownerInPath = /^\/(?:orgs\/\{(org)\}|users\/\{(username)\})/;

/**
 * Parameters with the current name of the user or organisation that the path begins with, if the call has a former
 * one: old names work for every method, as those of repositories do.
 */
export async function withCurrentName(
  path: string,
  params: Record<string, string>,
  owners: Pick<Owners, 'resolve' | 'resolveFormer'>,
): Promise<Record<string, string>> {
  const [, org, username] = ownerInPath.exec(path) ?? [];
  const key = org ?? username;
  const given = key === undefined ? undefined : params[key];
  if (key === undefined || given === undefined || (await owners.resolve(given)) !== null) return params;
  const owner = await owners.resolveFormer(given);
  return owner === null ? params : { ...params, [key]: owner.handle };
}
