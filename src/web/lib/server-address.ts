import { withoutTrailing } from '../../contract/trailing.ts'
import { useStatus } from './status.ts'

/** Where clients reach this gateway, without a slash at the end. */
export function useServerAddress(): string {
  return withoutTrailing(useStatus().server_address || window.location.origin, '/')
}
