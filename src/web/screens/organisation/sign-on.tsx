import { Button, Skeleton } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import { type SignOn, signOnFields } from '../../../contract/entities/sign-on.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import styles from './organisation.module.css'
import { Address } from './sign-on-address.tsx'
import { SignOnDomains } from './sign-on-domains.tsx'
import { SignOnRules } from './sign-on-rules.tsx'
import { SignOnScim } from './sign-on-scim.tsx'
import { signOnTexts } from './sign-on-texts.ts'

const SignOnForm = lazy(async () => ({ default: (await import('./sign-on-form.tsx')).SignOnForm }))

/** How the people of an organisation sign in, and what its directory may do: for its owners. */
export function SignOnTab({ payer }: { payer: Payer }) {
  const found = useQuery(read('GET /api/organisation/:id/sign-on', { params: { id: payer.id } }))
  if (found.error) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton height={240} />
  return (
    <div className={styles.stack}>
      <Provider payer={payer} signOn={found.data} />
      <SignOnDomains payer={payer} signOn={found.data} />
      <SignOnRules payer={payer} signOn={found.data} />
      <SignOnScim payer={payer} signOn={found.data} />
    </div>
  )
}

function Provider({ payer, signOn }: { payer: Payer; signOn: SignOn }) {
  const say = useText(signOnTexts)
  const local = useLocal()
  const [editing, setEditing] = useState<SignOn>()
  const flag = (isOn: boolean) => say(isOn ? 'yes' : 'no')
  const { issuer, client_id, group_claim, is_enabled, creates_accounts, is_only_way, redirect_uri, login_url } = signOn
  return (
    <Panel
      title={say('provider')}
      description={say('providerHint')}
      footer={
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setEditing(signOn)}>
          {say('edit')}
        </Button>
      }
    >
      <Facts
        facts={[
          { label: local(signOnFields.is_enabled.label), value: flag(is_enabled) },
          { label: local(signOnFields.issuer.label), value: issuer || say('unset') },
          ...(issuer === ''
            ? []
            : [
                { label: local(signOnFields.client_id.label), value: client_id },
                { label: local(signOnFields.group_claim.label), value: group_claim || say('nothing') },
                { label: local(signOnFields.creates_accounts.label), value: flag(creates_accounts) },
                { label: local(signOnFields.is_only_way.label), value: flag(is_only_way) },
              ]),
          { label: say('redirect'), value: <Address text={redirect_uri} /> },
          { label: say('loginUrl'), value: <Address text={login_url} /> },
        ]}
      />
      <SideDrawer subject={editing} title={() => say('provider')} onClose={() => setEditing(undefined)}>
        {(saved) => <SignOnForm payer={payer} saved={saved} onDone={() => setEditing(undefined)} />}
      </SideDrawer>
    </Panel>
  )
}
