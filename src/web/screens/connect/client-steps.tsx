import { Button, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Client, type ClientSetup, type ClientStep, clientDialects } from '../../../contract/clients/index.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useMay } from '../../lib/session.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import styles from './connect.module.css'
import { texts } from './texts.ts'

/** The configuration of a client for this gateway: contents and their places. */
export function ClientSteps({ client, setup, models }: { client: Client; setup: ClientSetup; models: readonly string[] }) {
  const say = useText(texts)
  const local = useLocal()
  return (
    <Panel
      title={say('steps', { client: client.name })}
      description={
        <>
          {say('interface', { dialect: clientDialects[client.dialect].name })}
          {' · '}
          <a className={styles.documentation} href={client.documentation} target="_blank" rel="noreferrer">
            {say('documentation')}
          </a>
        </>
      }
    >
      <Stack gap="md">
        {client.steps(setup).map((step) => (
          <section key={step.place.en} aria-label={local(step.place)}>
            <h3 className={styles.place}>{local(step.place)}</h3>
            <StepBody step={step} />
          </section>
        ))}
        {client.hint && <p className={shared.hint}>{local(client.hint)}</p>}
        <p className={shared.hint}>{say('secret')}</p>
        <ExtraModels client={client} model={setup.model} models={models} />
        <p className={shared.hint}>{client.tried ? say('tried', { ...client.tried }) : say('notTried')}</p>
      </Stack>
    </Panel>
  )
}

function StepBody({ step }: { step: ClientStep }) {
  if ('text' in step)
    return (
      <CodeBlock>
        <code className={`language-${step.language}`}>{step.text.trimEnd()}</code>
      </CodeBlock>
    )
  return (
    <dl className={styles.fields}>
      {step.fields.map(({ label, value }) => (
        <div key={label}>
          <dt className={shared.hint}>{label}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} label={label} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The models that the client also requests and that are not available, with the mapping that serves them with the selected model. */
function ExtraModels({ client, model, models }: { client: Client; model: string; models: readonly string[] }) {
  const say = useText(texts)
  const local = useLocal()
  const isAdmin = useMay('admin')
  const missing = (client.extraModels ?? []).filter((extra) => !models.includes(extra.model) && extra.model !== model)
  if (missing.length === 0) return null
  const mapping = JSON.stringify(Object.fromEntries(missing.map((extra) => [extra.model, model])), null, 2)
  return (
    <Notice
      kind="warn"
      title={say('extra')}
      action={
        isAdmin && (
          <Button component={Link} to="/channel" variant="default" size="xs">
            {say('channels')}
          </Button>
        )
      }
    >
      <p className={shared.hint}>{say(isAdmin ? 'extraHint' : 'extraOwnHint')}</p>
      <ul className={styles.extra}>
        {missing.map((extra) => (
          <li key={extra.model}>{say('extraModel', { model: extra.model, use: local(extra.use) })}</li>
        ))}
      </ul>
      <CodeBlock>
        <code className="language-json">{mapping}</code>
      </CodeBlock>
    </Notice>
  )
}
