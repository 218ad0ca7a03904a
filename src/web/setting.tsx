import { Personal } from './screens/personal/index.tsx'
import { Settings } from './screens/settings/index.tsx'

/** One address for two things that people look for in one place: the own account and the settings of the site. */
export function Screen() {
  return <Settings personal={<Personal />} />
}
