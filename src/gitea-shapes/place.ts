/** The addresses of this server. */
export interface ServerPlace {
  /** Public origin of this server; null if it is taken from the Host header of each request. */
  baseUrl: string | null;
  /** Origin of git over SSH, `ssh://git@host:port`; null if it is off. */
  sshOrigin: string | null;
}
