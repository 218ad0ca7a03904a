import { Button } from '@mantine/core'
import { IconKey, IconTrash } from '@tabler/icons-react'
import type { SignOn } from '../../../contract/entities/sign-on.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import { perform } from '../../ui/list/row-action.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { Address } from './sign-on-address.tsx'
import { signOnTexts } from './sign-on-texts.ts'

const invalidates = ['GET /api/organisation/:id/sign-on'] as const

/** The token with which the directory keeps the people of an organisation. */
export function SignOnScim({ payer: { id, name }, signOn }: { payer: Payer; signOn: SignOn }) {
  const say = useText(signOnTexts)
  const { scim_url: url, scim_created_at: created, scim_used_at: used } = signOn
  const create = useWrite('POST /api/organisation/:id/scim', { invalidates, onSuccess: ({ token }) => showToken(token) })
  const remove = useWrite('DELETE /api/organisation/:id/scim', { invalidates, success: say('scimDeleted') })
  const hasToken = created !== 0
  const creation = {
    label: say(hasToken ? 'scimReplace' : 'scimCreate'),
    ...(hasToken ? { ask: { title: say('scimReplaceTitle'), object: name, body: say('scimReplaceBody') } } : {}),
    onClick: () => create.mutate({ params: { id } }),
  }
  const removal = {
    label: say('scimDelete'),
    danger: true,
    ask: { title: say('scimDeleteTitle'), object: name, body: say('scimDeleteBody') },
    onClick: () => remove.mutate({ params: { id } }),
  }
  return (
    <Panel
      title={say('scim')}
      description={say('scimHint')}
      footer={
        <>
          {hasToken && (
            <Button
              variant="default"
              leftSection={<IconTrash size={16} />}
              loading={remove.isPending}
              onClick={() => void perform(removal)}
            >
              {removal.label}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconKey size={16} />}
            loading={create.isPending}
            onClick={() => void perform(creation)}
          >
            {creation.label}
          </Button>
        </>
      }
    >
      <Facts
        facts={[
          { label: say('scimUrl'), value: <Address text={url} /> },
          { label: say('scimCreated'), value: hasToken ? <TimeText seconds={created} /> : say('never') },
          { label: say('scimUsed'), value: used === 0 ? say('never') : <TimeText seconds={used} /> },
        ]}
      />
    </Panel>
  )
}

/** The token, which is shown once. */
function showToken(token: string): void {
  void showDialog({
    title: textOf(signOnTexts, 'scimToken'),
    body: (
      <>
        <p>{textOf(signOnTexts, 'scimOnce')}</p>
        <Address text={token} />
      </>
    ),
    cancelLabel: textOf(signOnTexts, 'done'),
  })
}
