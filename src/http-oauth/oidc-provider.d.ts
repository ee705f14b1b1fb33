/** What is used of the package, which brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Model {
    jti: string;
    exp: number;
    save(ttl?: number): Promise<string>;
  }

  export interface ModelClass<M extends Model> {
    new (of?: object): M;
    find(key: string, options?: { ignoreExpiration?: boolean }): Promise<M | undefined>;
    instantiate(payload?: object): M;
    prototype: M & { generateTokenId(): string };
  }

  export interface ClientModel {
    clientId: string;
    clientName?: string;
    clientSecret?: string;
    clientAuthMethod: string;
    applicationType: 'web' | 'native';
    redirectUris: string[];
    grantTypeAllowed(type: string): boolean;
    compareClientSecret(actual: string): boolean | Promise<boolean>;
  }

  export interface SessionModel extends Model {
    uid: string;
    accountId?: string;
    loginTs?: number;
    state?: { secret?: string; postLogoutRedirectUri?: string };
    resetIdentifier(): void;
  }

  export interface GrantModel extends Model {
    accountId: string;
    clientId: string;
    addOIDCScope(scope: string): void;
    getOIDCScopeEncountered(): string;
  }

  export interface InteractionModel extends Model {
    uid: string;
    returnTo: string;
    prompt: { name: string; reasons: string[]; details: Record<string, unknown> };
    params: Record<string, string | undefined>;
    session?: { accountId?: string; uid?: string };
    grantId?: string;
    lastSubmission?: object;
    result?: object;
  }

  export interface DeviceCodeModel extends Model {
    clientId: string;
    params: Record<string, string | undefined>;
    scope?: string;
    accountId?: string;
    grantId?: string;
    authTime?: number;
    claims?: object;
    error?: string;
    errorDescription?: string;
    inFlight?: boolean;
  }

  /** Of the context of a request what is used here. */
  export interface OidcContext {
    req: IncomingMessage;
    type: string;
    body: unknown;
    status: number;
    set(name: string, value: string): void;
    redirect(to: string): void;
    response: { get(name: string): string };
    oidc: {
      route: string;
      provider: Provider;
      params?: Record<string, unknown>;
      client?: ClientModel;
      session: SessionModel;
      result?: { consent?: { grantId?: string } };
      entity(name: string, value: unknown): void;
      urlFor(name: string): string;
    };
  }

  export interface AuthorizationCodeModel extends Model {
    redirectUri?: string;
    codeChallenge?: string;
  }

  export interface ProviderError {
    error: string;
    error_description?: string;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    proxy: boolean;
    use(middleware: (ctx: OidcContext, next: () => Promise<void>) => Promise<void>): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    on(event: string, listener: (...args: never[]) => void): void;
    Session: ModelClass<SessionModel> & { get(ctx: OidcContext): Promise<SessionModel> };
    Grant: ModelClass<GrantModel>;
    Interaction: ModelClass<InteractionModel>;
    AccessToken: ModelClass<Model>;
    RefreshToken: ModelClass<Model>;
    DeviceCode: ModelClass<DeviceCodeModel> & {
      findByUserCode(code: string, options?: { ignoreExpiration?: boolean }): Promise<DeviceCodeModel | undefined>;
    };
    AuthorizationCode: ModelClass<AuthorizationCodeModel>;
    /** The request that is being answered. */
    static ctx: OidcContext | undefined;
    Client: { prototype: ClientModel; find(id: string): Promise<ClientModel | undefined> };
  }

  export const interactionPolicy: {
    base(): { get(name: string): { checks: { add(check: object, index?: number): void } } | undefined };
    Check: {
      new (reason: string, description: string, check: (ctx: OidcContext) => boolean): object;
      REQUEST_PROMPT: true;
      NO_NEED_TO_PROMPT: false;
    };
  };
  export const errors: Record<string, new (description?: string) => Error>;
  export default Provider;
}
