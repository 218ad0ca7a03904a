import { Box, Button, Group } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { useMay } from '../../lib/session.ts'
import { storedFlag } from '../../lib/stored.ts'
import { Disclosure } from '../../ui/page/disclosure.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import styles from './home.module.css'

const texts = defineTexts({
  title: ['从 new-api 或 one-api 迁移？', 'Moving from new-api or one-api?'],
  hint: [
    '用户、密码、sk- 密钥、渠道、额度、兑换码与日志由一条命令迁入，客户无需改动。',
    'Users, passwords, sk- keys, channels, balances, codes and logs come over with one command. Customers change nothing.',
  ],
  look: [
    '在服务器上运行。先试运行：报告会列出每张表将迁入、更改与拒绝的行，不写入任何数据。',
    'Run it on the server. First a dry run: it reports the rows of each table that would be taken, changed or refused, and writes nothing.',
  ],
  take: [
    '停止旧服务后正式迁入并核对账目。旧数据库只读，随时可以退回。',
    'Then stop the old server, take everything over and check the books. The old database is only read, so that you can go back.',
  ],
  source: [
    '来源可以是 SQLite 文件、MySQL 或 MariaDB 的地址或转储文件，或 PostgreSQL 的地址；LiteLLM 的配置文件可迁入其渠道。',
    'The source is a SQLite file, the address or a dump of MySQL or MariaDB, or the address of PostgreSQL. Channels of LiteLLM come from its configuration.',
  ],
  guide: ['查看完整步骤（英文）', 'Show all steps'],
  hide: ['不迁移，不再显示', 'Nothing to move: don’t show again'],
})

const hidden = storedFlag('moving-hidden', false)

const dryRun = 'npm run sluice -- import new-api one-api.db --dry-run'
const realRun = 'npm run sluice -- import new-api one-api.db --yes\nnpm run sluice -- verify'

const MovingGuide = lazy(async () => ({ default: (await import('./moving-guide.tsx')).MovingGuide }))

/** Explains to the super admin of a site without a channel how to migrate from another site of this family. */
export function Moving() {
  const say = useText(texts)
  const isHidden = hidden.use()
  const mayMove = useMay('root')
  const [showsGuide, setShowsGuide] = useState(false)
  if (isHidden || !mayMove) return null
  return (
    <Box mt={20}>
      <Disclosure title={say('title')} hint={say('hint')}>
        <div className={styles.moving}>
          <p className={shared.hint}>{say('look')}</p>
          <CodeBlock>{dryRun}</CodeBlock>
          <p className={shared.hint}>{say('take')}</p>
          <CodeBlock>{realRun}</CodeBlock>
          <p className={shared.hint}>{say('source')}</p>
          <Group gap="xs">
            <Button variant="default" size="compact-sm" onClick={() => setShowsGuide(true)}>
              {say('guide')}
            </Button>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => hidden.write(true)}>
              {say('hide')}
            </Button>
          </Group>
        </div>
      </Disclosure>
      {showsGuide && (
        <Suspense>
          <MovingGuide title={say('title')} onClose={() => setShowsGuide(false)} />
        </Suspense>
      )}
    </Box>
  )
}
