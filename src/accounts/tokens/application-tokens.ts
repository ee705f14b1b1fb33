import type { Scope } from '../../access/index.ts';

/** Looks up the tokens of applications; answered by the module `oauth`. */
export interface ApplicationTokens {
  /** `null` for a token that is none of an application, has expired, or opens nothing but facts about the person. */
  find(secret: string): Promise<{ userId: string; access: Scope; onlyPackages: boolean } | null>;
}
