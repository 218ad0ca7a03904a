import { Button } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { entryTexts } from './entry-texts.ts'

/** The way to the logins of organisations; nothing while none has one. */
export function OrganisationLogin() {
  const say = useText(entryTexts)
  const { data } = useQuery(read('GET /api/sso/'))
  if (!data?.offered) return null
  return (
    <Button
      component={Link}
      to="/sso"
      variant="default"
      size="md"
      fullWidth
      leftSection={<IconBuilding size={18} stroke={1.7} aria-hidden="true" />}
    >
      {say('organisationLogin')}
    </Button>
  )
}
