import { withoutTrailing } from '../../contract/trailing.ts'
import { sitePath } from './base-path.ts'
import { useStatus } from './status.ts'

/** The base URL of this gateway for clients, without a trailing slash. */
export function useServerAddress(): string {
  return withoutTrailing(useStatus().server_address || window.location.origin + sitePath(''), '/')
}
