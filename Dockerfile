# One image for every process of Taskloom: `serve` (the default), `worker`,
# `migrate`, `apply`, … No shell, no package manager, no root.

# Swagger UI and Redoc for the pages of the API's description, and the web app.
FROM node:24.11.1-bookworm-slim AS pages
WORKDIR /src
COPY tools/apidocs.sh tools/apidocs.sh
COPY tools/apidocs tools/apidocs
RUN --mount=type=cache,target=/root/.npm tools/apidocs.sh --omit=dev
COPY tools/web.sh tools/web.sh
COPY web web
RUN --mount=type=cache,target=/root/.npm tools/web.sh build

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
COPY --from=pages /src/api/edge/apidocs/dist api/edge/apidocs/dist
COPY --from=pages /src/web/dist web/dist
ARG VERSION=unknown
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /taskloom ./cmd/taskloom \
    && /taskloom version --json | grep -q '"ui": "embedded"'

# Distroless has no version tags; the digest is the pin.
FROM gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab
COPY --from=build /taskloom /taskloom
# Inside a container the loopback defaults would reach nobody.
ENV ADDR=0.0.0.0:8080 METRICS_ADDR=0.0.0.0:9090
EXPOSE 8080 9090
USER nonroot:nonroot
ENTRYPOINT ["/taskloom"]
CMD ["serve"]
