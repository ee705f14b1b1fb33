import type { Scope } from '../../access/index.ts';

/** Looks up application tokens; implemented by the module `oauth`. */
export interface ApplicationTokens {
  /**
   * `null` for a token that does not belong to an application, has expired, or only grants access to facts about the
   * user.
   */
  find(secret: string): Promise<{ userId: string; access: Scope; onlyPackages: boolean } | null>;
}
