# The server with the console it serves. No install script runs: every native part comes prebuilt in its package.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY test/package.json ./test/
# Without the workspace of the tests.
RUN npm ci --workspaces=false --ignore-scripts
COPY . .
RUN node scripts/build.mjs && npm prune --omit=dev --workspaces=false --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json /app/VERSION /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The server starts no other program: what installs packages is of use to an intruder alone.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
  && mkdir /data && chown node:node /data \
  && ln -s /app/dist/server/sluice.js /usr/local/bin/sluice && chmod +x /app/dist/server/sluice.js
USER node
VOLUME /data
EXPOSE 3000
# The first success ends the start period: a start may wait for PostgreSQL, and migrate a large database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15m --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/server/main.js"]
